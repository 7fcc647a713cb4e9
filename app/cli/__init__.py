"""The command line. `main` declares the commands; each has a file of its own, loaded when used."""
