"""aiohttp with aiohttp-retry before one case: reads RAC_*, exits 0 for an answer, 1 for a refusal."""
import asyncio
import os
import sys

import aiohttp
from aiohttp_retry import ExponentialRetry, RetryClient

body = open(os.environ["RAC_BODY_FILE"], "rb").read() if "RAC_BODY_FILE" in os.environ else None


async def main():
    options = ExponentialRetry(attempts=5, start_timeout=1, statuses={408, 429, 502, 503, 504})
    async with RetryClient(raise_for_status=False, retry_options=options) as client:
        try:
            async with client.request(os.environ["RAC_METHOD"], os.environ["RAC_URL"], data=body) as answer:
                return 0 if answer.status < 400 else 1
        except aiohttp.ClientError as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            return 1


sys.exit(asyncio.run(main()))
