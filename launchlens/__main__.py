"""``python -m launchlens``."""

from launchlens.cli.main import main

if __name__ == "__main__":
    main()
