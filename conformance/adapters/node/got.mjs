import got from "got";
import { body, capMs, deadlineMs, headers, method, run } from "./client.mjs";

const retry = { limit: 5, ...(capMs ? { maxRetryAfter: capMs } : {}) };
const timeout = deadlineMs ? { request: deadlineMs } : {};
await run((url) => got(url, { method, body, headers, retry, timeout }));
