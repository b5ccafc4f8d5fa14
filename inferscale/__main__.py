"""Entry of `python -m inferscale`, the same as `inferscale`."""

from inferscale.commands import main

if __name__ == "__main__":
    main()
