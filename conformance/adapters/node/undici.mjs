import { Agent, interceptors, request } from "undici";
import { body, headers, method, run } from "./client.mjs";

const dispatcher = new Agent().compose(interceptors.retry());
await run(async (url) => {
  const answer = await request(url, { method, body, headers, dispatcher });
  await answer.body.dump();
  if (answer.statusCode >= 400) throw new Error(`status ${answer.statusCode}`);
});
