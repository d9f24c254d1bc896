import axios from "axios";
import axiosRetry, { exponentialDelay } from "axios-retry";
import { body, headers, method, run } from "./client.mjs";

const client = axios.create({ proxy: false });
axiosRetry(client, {
  retries: 5,
  retryDelay: exponentialDelay,
  retryCondition: (error) => axiosRetry.isNetworkOrIdempotentRequestError(error) || (error.response?.status === 429 && method !== "POST" && method !== "PATCH"),
});
await run((url) => client.request({ url, method, data: body, headers }));
