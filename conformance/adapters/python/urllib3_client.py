"""urllib3 before one case: reads RAC_*, exits 0 for an answer, 1 for a refusal."""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import urllib3

STATUSES = (408, 429, 502, 503, 504)
pool = urllib3.PoolManager(maxsize=8, retries=urllib3.Retry(total=5, backoff_factor=0.5, status_forcelist=STATUSES))
body = open(os.environ["RAC_BODY_FILE"], "rb").read() if "RAC_BODY_FILE" in os.environ else None
headers = {"Content-Type": "application/octet-stream"} if body is not None else {}


def operation(url):
    try:
        answer = pool.request(os.environ["RAC_METHOD"], url, body=body, headers=headers)
        return 0 if answer.status < 400 else 1
    except urllib3.exceptions.HTTPError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1


urls = os.environ["RAC_URLS"].split()
if os.environ.get("RAC_START") == "together":
    with ThreadPoolExecutor(len(urls)) as threads:
        sys.exit(max(threads.map(operation, urls)))
sys.exit(max([operation(url) for url in urls]))
