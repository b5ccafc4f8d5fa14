"""A made-up conversation in LoCoMo's format, with all that is irregular in the real ones."""

import json
from pathlib import Path
from typing import Any

RECORD: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Vera",
        "speaker_b": "Olaf",
        # Later sessions come first, and one date has no session.
        "session_10_date_time": "9:05 am on 2 June, 2024",
        "session_10": [
            {"speaker": "Olaf", "dia_id": "D10:1", "text": "I sold my café in Köln. "},
            {"speaker": "Vera", "dia_id": "D10:2", "text": "I bought two goats, Pip and Lo."},
        ],
        "session_2_date_time": "12:30 am on 29 February, 2024",
        "session_2": [
            {
                "speaker": "Vera",
                "dia_id": "D2:1",
                "text": "Look at my new bike!",
                "img_url": ["https://example.org/bike.jpg"],
                "blip_caption": "a photo of a red bike",
            },
            {"speaker": "Olaf", "dia_id": "D2:2", "text": "I work in a café."},
        ],
        "session_11_date_time": "8:00 pm on 5 July, 2024",
    },
    "observation": {
        "session_2_observation": {
            "Vera": [["Vera has a new bike.", "D2:1"]],
            "Olaf": [["Olaf works in a café.", "D2:2"]],
        },
        "session_10_observation": {
            "Vera": [["Vera bought two goats named Pip and Lo.", ["D10:2"]]],
            "Olaf": [["Olaf sold his café, and Vera bought goats.", ["D10:1", "D10:2"]]],
        },
    },
    "qa": [
        {"question": "When did Olaf sell his café?", "answer": 2024, "evidence": ["D10:1"],
         "category": 2},
        {"question": "What do Vera and Olaf own?", "answer": "a bike, two goats",
         "evidence": ["D2:1; D10:2", "D10:02"], "category": 1},
        {"question": "Would Vera like a farm?", "answer": "Yes; she keeps goats",
         "evidence": [], "category": 3},
        {"question": "Where did Olaf work?", "answer": "in a café",
         "evidence": ["D", "D:2:2", "D4:36", "D2:2"], "category": 4},
        {"question": "What colour is Olaf's bike?", "adversarial_answer": "red",
         "evidence": ["D2:1"], "category": 5},
    ],
}  # fmt: skip


def written(folder: Path, *records: dict[str, Any]) -> Path:
    """A file of these conversations, of the one above without any."""
    path = folder / "talk.json"
    path.write_text(json.dumps(records or [RECORD], ensure_ascii=False), encoding="utf-8")
    return path
