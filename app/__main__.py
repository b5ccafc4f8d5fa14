"""`python -m app` is the same as `inferscale`."""

from app.cli import main

if __name__ == "__main__":
    main()
