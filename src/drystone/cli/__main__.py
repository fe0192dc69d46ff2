from drystone.cli import main

main()
