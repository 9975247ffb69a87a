"""Types of a parsed document's columns in Parquet."""

from __future__ import annotations

from discsum.extras import needs

with needs("pyarrow"):
    import pyarrow as pa

SPAN = pa.struct([("start", pa.int64()), ("end", pa.int64())])
EDU = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("sentence", pa.int32())])
NODE = pa.struct(
    [
        ("first", pa.int32()),
        ("last", pa.int32()),
        ("split", pa.int32()),
        ("nuclearity", pa.string()),
        ("relation", pa.string()),
        ("probability", pa.float64()),
        ("joined", pa.bool_()),
    ]
)
# The fields of `Document.to_json`, except `erst` and `surrogates`; missing fields are null.
DOCUMENT = (
    ("id", pa.string()),
    ("text", pa.string()),
    ("parser", pa.string()),
    ("sentences", pa.list_(SPAN)),
    ("edus", pa.list_(EDU)),
    ("nodes", pa.list_(NODE)),
    ("warnings", pa.list_(pa.string())),
)
