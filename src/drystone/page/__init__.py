"""The page in the browser: answers of runs, the server on this machine, the file that can be shared, the studio."""
