"""requests before one case: reads RAC_*, exits 0 for an answer, 1 for a refusal."""
import os
import sys

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

session = requests.Session()
session.mount("http://", HTTPAdapter(max_retries=Retry(total=5, backoff_factor=0.5, status_forcelist=(408, 429, 502, 503, 504))))
body = open(os.environ["RAC_BODY_FILE"], "rb").read() if "RAC_BODY_FILE" in os.environ else None
headers = {"Content-Type": "application/octet-stream"} if body is not None else {}
try:
    answer = session.request(os.environ["RAC_METHOD"], os.environ["RAC_URL"], data=body, headers=headers)
except requests.RequestException as error:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    sys.exit(1)
sys.exit(0 if answer.ok else 1)
