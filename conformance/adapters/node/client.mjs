// What the clients in Node have in common: read RAC_*, run each operation, exit 0 or 1.
import { readFileSync } from "node:fs";

const milliseconds = (name) => (process.env[name] ? Number(process.env[name]) * 1000 : undefined);

export const method = process.env.RAC_METHOD;
export const body = process.env.RAC_BODY_FILE ? readFileSync(process.env.RAC_BODY_FILE) : undefined;
export const headers = body ? { "content-type": "application/octet-stream" } : {};
export const deadlineMs = milliseconds("RAC_DEADLINE_S");
export const capMs = milliseconds("RAC_CAP_S");

/** Runs `send(url)` for each operation; it throws where the answer is a refusal. */
export async function run(send) {
  const urls = process.env.RAC_URLS.split(" ");
  const operation = async (url) => {
    try {
      await send(url);
      return 0;
    } catch (error) {
      console.error(`${error.name}: ${error.message}`);
      return 1;
    }
  };
  const codes = [];
  if (process.env.RAC_START === "together") {
    codes.push(...(await Promise.all(urls.map(operation))));
  } else {
    for (const url of urls) codes.push(await operation(url));
  }
  process.exit(Math.max(...codes));
}
