"""Everything that is seen: pictures, plots, tables, the page in the browser, reports, and files for other programs."""
