"""Triton kernels: inject and encode for all layers and all tokens of a step in one launch.

A program takes `ROWS` rows, a row being one head of one token, and one layer. Layers are
told apart by addresses in `layers`, int64 [layers, 2]: the layer's cache, and its table of
cosines and sines (fp32 [max_position, 2 * HALF]), 0 for a layer without RoPE. `index` is
int32 [3, tokens] as in `metadata.Transfer`. The arena is contiguous [slots, layers, 2,
HEADS, DIM], a page `page_stride` elements, and an element of it at `kv * kv_stride + token *
token_stride + head * head_stride + dim`.
"""

from vllm.triton_utils import tl, triton


@triton.jit
def _columns(HALF: tl.constexpr, PADDED_HALF: tl.constexpr, NEOX: tl.constexpr):
    """Dimensions of the first and the second of each rotated pair, and which are padding."""
    pair = tl.arange(0, PADDED_HALF)[None, :]
    if NEOX:
        first, second = pair, pair + HALF
    else:
        first, second = 2 * pair, 2 * pair + 1
    return pair, first, second, pair < HALF


@triton.jit
def _rows(index, tokens, ROWS: tl.constexpr, HEADS: tl.constexpr):
    """Head, arena slot, page slot and position of the program's rows, and which exist."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    token = row // HEADS
    real = token < tokens
    slot = tl.load(index + token, mask=real, other=0).to(tl.int64)
    page = tl.load(index + tokens + token, mask=real, other=0).to(tl.int64)
    position = tl.load(index + 2 * tokens + token, mask=real, other=0).to(tl.int64)
    return row % HEADS, slot, page, position, real


@triton.jit(do_not_specialize=["tokens"])
def inject(
    arena, scales, index, layers, tokens, page_stride, kv_stride, token_stride, head_stride,
    LAYERS: tl.constexpr, HEADS: tl.constexpr, DIM: tl.constexpr, PADDED_DIM: tl.constexpr,
    HALF: tl.constexpr, PADDED_HALF: tl.constexpr, NEOX: tl.constexpr, PAGE: tl.constexpr,
    SCALED: tl.constexpr, ROWS: tl.constexpr, CACHE: tl.constexpr,
):  # fmt: skip
    """Arena -> pages, with keys rotated for their positions."""
    layer = tl.program_id(1)
    head, slot, page, position, real = _rows(index, tokens, ROWS, HEADS)
    cache = tl.load(layers + 2 * layer).to(tl.pointer_type(CACHE))
    table = tl.load(layers + 2 * layer + 1)
    vector = ((slot * LAYERS + layer) * 2) * HEADS + head
    target = (page // PAGE) * page_stride + (page % PAGE) * token_stride + head * head_stride
    key, value = arena + vector[:, None] * DIM, arena + (vector + HEADS)[:, None] * DIM
    key_target, value_target = cache + target[:, None], cache + (target + kv_stride)[:, None]
    key_scale, value_scale = 1.0, 1.0
    if SCALED:
        key_scale = tl.load(scales + vector, mask=real, other=0.0)[:, None]
        value_scale = tl.load(scales + vector + HEADS, mask=real, other=0.0)[:, None]

    dim = tl.arange(0, PADDED_DIM)[None, :]
    mask = real[:, None] & (dim < DIM)
    v = tl.load(value + dim, mask=mask, other=0.0).to(tl.float32) * value_scale
    tl.store(value_target + dim, v.to(CACHE), mask=mask)

    if HALF > 0:
        pair, first, second, exists = _columns(HALF, PADDED_HALF, NEOX)
        mask = real[:, None] & exists
        cos = tl.full((ROWS, PADDED_HALF), 1.0, tl.float32)
        sin = tl.zeros((ROWS, PADDED_HALF), tl.float32)
        if table != 0:
            angles = table.to(tl.pointer_type(tl.float32)) + position[:, None] * (2 * HALF)
            cos = tl.load(angles + pair, mask=mask, other=0.0)
            sin = tl.load(angles + HALF + pair, mask=mask, other=0.0)
        one = tl.load(key + first, mask=mask, other=0.0).to(tl.float32) * key_scale
        two = tl.load(key + second, mask=mask, other=0.0).to(tl.float32) * key_scale
        tl.store(key_target + first, (one * cos - two * sin).to(CACHE), mask=mask)
        tl.store(key_target + second, (two * cos + one * sin).to(CACHE), mask=mask)
    if 2 * HALF < DIM:
        mask = real[:, None] & (dim >= 2 * HALF) & (dim < DIM)
        rest = tl.load(key + dim, mask=mask, other=0.0).to(tl.float32) * key_scale
        tl.store(key_target + dim, rest.to(CACHE), mask=mask)


@triton.jit(do_not_specialize=["tokens"])
def encode(
    arena, scales, index, layers, tokens, page_stride, kv_stride, token_stride, head_stride,
    LAYERS: tl.constexpr, HEADS: tl.constexpr, DIM: tl.constexpr, PADDED_DIM: tl.constexpr,
    HALF: tl.constexpr, PADDED_HALF: tl.constexpr, NEOX: tl.constexpr, PAGE: tl.constexpr,
    SCALED: tl.constexpr, ROWS: tl.constexpr, CACHE: tl.constexpr,
):  # fmt: skip
    """Pages -> arena, with the keys' rotation undone."""
    layer = tl.program_id(1)
    head, slot, page, position, real = _rows(index, tokens, ROWS, HEADS)
    cache = tl.load(layers + 2 * layer).to(tl.pointer_type(CACHE))
    table = tl.load(layers + 2 * layer + 1)
    vector = ((slot * LAYERS + layer) * 2) * HEADS + head
    origin = (page // PAGE) * page_stride + (page % PAGE) * token_stride + head * head_stride
    key, value = cache + origin[:, None], cache + (origin + kv_stride)[:, None]
    key_target, value_target = (
        arena + vector[:, None] * DIM,
        arena + (vector + HEADS)[:, None] * DIM,
    )
    ARENA: tl.constexpr = arena.dtype.element_ty

    dim = tl.arange(0, PADDED_DIM)[None, :]
    mask = real[:, None] & (dim < DIM)
    v = tl.load(value + dim, mask=mask, other=0.0).to(tl.float32)
    if SCALED:
        scale = tl.maximum(tl.max(tl.abs(v), axis=1), 1e-12) / 448.0
        tl.store(scales + vector + HEADS, scale, mask=real)
        v = v / scale[:, None]
    tl.store(value_target + dim, v.to(ARENA), mask=mask)

    largest = tl.zeros((ROWS,), tl.float32)
    rest_mask = real[:, None] & (dim >= 2 * HALF) & (dim < DIM)
    rest = tl.zeros((ROWS, PADDED_DIM), tl.float32)
    if 2 * HALF < DIM:
        rest = tl.load(key + dim, mask=rest_mask, other=0.0).to(tl.float32)
        largest = tl.max(tl.abs(rest), axis=1)
    if HALF > 0:
        pair, first, second, exists = _columns(HALF, PADDED_HALF, NEOX)
        mask = real[:, None] & exists
        cos = tl.full((ROWS, PADDED_HALF), 1.0, tl.float32)
        sin = tl.zeros((ROWS, PADDED_HALF), tl.float32)
        if table != 0:
            angles = table.to(tl.pointer_type(tl.float32)) + position[:, None] * (2 * HALF)
            cos = tl.load(angles + pair, mask=mask, other=1.0)
            sin = tl.load(angles + HALF + pair, mask=mask, other=0.0)
            norm = cos * cos + sin * sin
            cos, sin = cos / norm, sin / norm
        one = tl.load(key + first, mask=mask, other=0.0).to(tl.float32)
        two = tl.load(key + second, mask=mask, other=0.0).to(tl.float32)
        one, two = one * cos + two * sin, two * cos - one * sin
        largest = tl.maximum(largest, tl.max(tl.maximum(tl.abs(one), tl.abs(two)), axis=1))
    scale = tl.full((ROWS,), 1.0, tl.float32)
    if SCALED:
        scale = tl.maximum(largest, 1e-12) / 448.0
        tl.store(scales + vector, scale, mask=real)
    if HALF > 0:
        tl.store(key_target + first, (one / scale[:, None]).to(ARENA), mask=mask)
        tl.store(key_target + second, (two / scale[:, None]).to(ARENA), mask=mask)
    if 2 * HALF < DIM:
        tl.store(key_target + dim, (rest / scale[:, None]).to(ARENA), mask=rest_mask)


@triton.jit
def copy_rows(source, source_slots, target, target_slots, words, WORDS: tl.constexpr):
    """Rows of `words` int32 from slots to slots; either side may be page-locked host memory."""
    row = tl.program_id(0)
    start = tl.load(source_slots + row).to(tl.int64) * words
    end = tl.load(target_slots + row).to(tl.int64) * words
    column = tl.program_id(1) * WORDS + tl.arange(0, WORDS)
    mask = column < words
    tl.store(target + end + column, tl.load(source + start + column, mask=mask), mask=mask)
