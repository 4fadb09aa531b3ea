"""The report: everything that the ledger holds, as one HTML file, as text, or as Markdown with pictures.

`content` gathers it, from the ledger alone. `tables` and `charts` are the views, each made once; `html`,
`text` and `markdown` write them down, `static` draws a chart without a browser.
"""
