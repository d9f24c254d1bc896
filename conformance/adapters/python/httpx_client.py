"""httpx with httpx-retries before one case: reads RAC_*, exits 0 for an answer, 1 for a refusal."""
import os
import sys

import httpx
from httpx_retries import RetryTransport

body = open(os.environ["RAC_BODY_FILE"], "rb").read() if "RAC_BODY_FILE" in os.environ else None
headers = {"Content-Type": "application/octet-stream"} if body is not None else {}
try:
    with httpx.Client(transport=RetryTransport(), trust_env=False) as client:
        answer = client.request(os.environ["RAC_METHOD"], os.environ["RAC_URL"], content=body, headers=headers)
except httpx.HTTPError as error:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    sys.exit(1)
sys.exit(0 if answer.status_code < 400 else 1)
