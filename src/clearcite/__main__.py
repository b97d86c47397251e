"""``python -m clearcite``: the command line without an installed script."""

from clearcite.interfaces.cli.main import main

if __name__ == "__main__":
    main()
