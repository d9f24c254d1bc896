import ky from "ky";
import { body, capMs, deadlineMs, headers, method, run } from "./client.mjs";

const retry = { limit: 5, ...(capMs ? { maxRetryAfter: capMs } : {}) };
await run((url) => ky(url, { method, body, headers, retry, ...(deadlineMs ? { timeout: deadlineMs } : {}) }));
