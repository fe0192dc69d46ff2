"""The page in the browser: answers about runs, the local server, the file for sharing, and the studio."""
