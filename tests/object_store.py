"""An object store on this machine: moto's S3, on a port of the loopback."""

import os
from contextlib import contextmanager
from uuid import uuid4

# Settings that botocore reads: of this store alone, whatever the machine has.
SETTINGS = {
    "AWS_ACCESS_KEY_ID": "tests",
    "AWS_SECRET_ACCESS_KEY": "tests",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "NO_PROXY": "127.0.0.1",
    "no_proxy": "127.0.0.1",
}


@contextmanager
def object_store():
    """Start a store, which `s3://` means for the time of a block; yield the URL of a bucket."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    before = dict(os.environ)
    os.environ.update(SETTINGS, AWS_ENDPOINT_URL=f"http://{host}:{port}")
    try:
        bucket = f"discsum-{uuid4().hex[:8]}"
        boto3.client("s3").create_bucket(Bucket=bucket)
        yield f"s3://{bucket}"
    finally:
        os.environ.clear()
        os.environ.update(before)
        server.stop()
