"""Reduces the size of PNG pictures."""

import io


def smaller(png: bytes, widest: int) -> bytes:
    """The picture with at most `widest` pixels across and 128 colours, or the original if that is smaller."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        picture = image.convert("RGB")
    if picture.width > widest:
        height = round(picture.height * widest / picture.width)
        picture = picture.resize((widest, height), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    picture.quantize(128, method=Image.Quantize.MAXCOVERAGE).save(out, "PNG", optimize=True)
    return min(png, out.getvalue(), key=len)
