// One caller with OpenAI's own client: asks until it has an answer, at most
// `calls` times, and prints what came of it as JSON. The client's retries are its
// defaults.
import OpenAI from 'openai';

const { base, key, timeout, params, calls = 1, stream = false, list = false } = JSON.parse(process.argv[2]);
const client = new OpenAI({ baseURL: base, apiKey: 'dev-key', ...(timeout && { timeout }) });
const options = key ? { headers: { 'Idempotency-Key': key } } : {};

async function ask() {
  if (list) {
    const models = [];
    for await (const model of client.models.list()) models.push(model.id);
    return { models };
  }
  if (!stream) {
    const { data, response } = await client.chat.completions.create(params, options).withResponse();
    return { completion: data, job: response.headers.get('x-job-id') };
  }
  const answer = client.chat.completions.stream(params, options);
  return { completion: await answer.finalChatCompletion() };
}

const said = { failures: [] };
for (let call = 0; call < calls && !said.completion && !said.models; call++) {
  try {
    Object.assign(said, await ask());
  } catch (error) {
    const { status, code, message } = error;
    said.failures.push({ name: error.constructor.name, status, code, message });
  }
}
process.stdout.write(JSON.stringify(said), () => process.exit(0));
