"""Reports on the store: one HTML file, plain text, or Markdown with pictures.

`sections` collects the data. `tables` and `charts` build the views, each once; `html`, `text` and `markdown`
write them, and `render_png` draws charts without a browser.
"""
