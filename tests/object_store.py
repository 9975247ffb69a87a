"""Local object stores on a loopback port: moto's S3, and an emulator of Google Cloud Storage."""

import os
from contextlib import contextmanager, suppress
from functools import wraps
from http import HTTPStatus
from threading import Lock
from unittest import mock
from uuid import uuid4

# Bypasses proxies.
LOOPBACK = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
# Settings for botocore; they replace all settings of the user.
SETTINGS = {
    **LOOPBACK,
    "AWS_ACCESS_KEY_ID": "tests",
    "AWS_SECRET_ACCESS_KEY": "tests",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}
# Without the first one, gcsfs asks for the bucket's type over gRPC, which the emulator does not support.
GOOGLE = {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false", "NO_GCE_CHECK": "true", **LOOPBACK}


@contextmanager
def object_store():
    """Start a store to which `s3://` URLs refer while the block runs; yield the URL of a bucket.

    With TEST_S3 in the environment, the bucket is in the store of AWS_ENDPOINT_URL.
    """
    import boto3
    from moto.s3.responses import S3Response
    from moto.server import ThreadedMotoServer

    if "TEST_S3" in os.environ:
        bucket = boto3.resource("s3").Bucket(f"discsum-{uuid4().hex[:8]}")
        bucket.create()
        try:
            yield f"s3://{bucket.name}"
        finally:
            bucket.objects.all().delete()
            bucket.delete()
        return
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    before = dict(os.environ)
    os.environ.update(SETTINGS, AWS_ENDPOINT_URL=f"http://{host}:{port}")
    try:
        bucket = f"discsum-{uuid4().hex[:8]}"
        boto3.client("s3").create_bucket(Bucket=bucket)
        with mock.patch.object(S3Response, "put_object", _one_at_a_time(S3Response.put_object)):
            yield f"s3://{bucket}"
    finally:
        os.environ.clear()
        os.environ.update(before)
        server.stop()


def _one_at_a_time(put):
    """Return moto's method that stores an object, atomic as in S3: it looks for the object before it stores one."""
    storing = Lock()

    @wraps(put)
    def atomic(response):
        with storing:
            return put(response)

    return atomic


@contextmanager
def google_store():
    """Start a store to which `gs://` URLs refer while the block runs; yield the URL of a bucket."""
    from gcp_storage_emulator import server as emulator

    bucket, before = f"discsum-{uuid4().hex[:8]}", dict(os.environ)
    server = emulator.create_server("127.0.0.1", 0, in_memory=True, default_bucket=bucket)
    try:
        with server, _exclusive_inserts(emulator):
            os.environ.update(GOOGLE, STORAGE_EMULATOR_HOST=f"http://127.0.0.1:{server._api._httpd.server_port}")
            yield f"gs://{bucket}"
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _exclusive_inserts(emulator):
    """Make the emulator respect requests not to overwrite an object, which locks need."""
    replaced = []
    for _, handlers in emulator.HANDLERS:
        for method, handler in handlers.items():
            if handler is emulator.objects.insert:
                replaced.append((handlers, method, handler))
                handlers[method] = _insert_as_asked
    try:
        yield
    finally:
        for handlers, method, handler in replaced:
            handlers[method] = handler


def _insert_as_asked(request, response, storage):
    """Store an object; with `ifGenerationMatch=0` only if it does not exist, as Google's store does."""
    from gcp_storage_emulator.exceptions import NotFound
    from gcp_storage_emulator.handlers import objects

    if request.query.get("ifGenerationMatch") == ["0"]:
        with suppress(NotFound):
            name = request.query["name"][0] if "name" in request.query else request.data["meta"]["name"]
            storage.get_file_obj(request.params["bucket_name"], name)
            response.status = HTTPStatus.PRECONDITION_FAILED
            response.json({"error": {"code": 412, "message": "At least one of the pre-conditions did not hold"}})
            return
    objects.insert(request, response, storage)
