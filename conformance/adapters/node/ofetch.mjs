import { ofetch } from "ofetch";
import { body, headers, method, run } from "./client.mjs";

await run((url) => ofetch(url, { method, body, headers, retry: method === "GET" || method === "HEAD" ? 5 : undefined, retryDelay: 1000 }));
