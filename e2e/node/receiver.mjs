// A webhook receiver as the documentation of Standard Webhooks has it: verifies
// with the package `standardwebhooks`, and says on standard output what it saw, a
// line of JSON for every delivery. The first `fail` deliveries it answers with 500.
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const { secrets, fail = 0 } = JSON.parse(process.argv[2]);
let left = fail;

// verdict is ok, or why the package refuses a delivery.
function verdict(secret, body, headers) {
  try {
    new Webhook(secret).verify(body, headers);
    return 'ok';
  } catch (error) {
    return error.message;
  }
}

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    const { headers } = request;
    const old = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 600) };
    const verdicts = secrets.map((secret) => verdict(secret, body, headers));
    const good = verdicts.includes('ok');
    const status = !good ? 401 : left-- > 0 ? 500 : 204;
    say({
      id: headers['webhook-id'], status, verdicts, body,
      signatures: headers['webhook-signature'].split(' ').length,
      tampered: verdict(secrets[0], body.replace('"job.', '"jab.'), headers),
      stolen: verdict(secrets[0], body, { ...headers, 'webhook-id': 'another' }),
      old: verdict(secrets[0], body, old),
    });
    response.writeHead(status).end();
  });
});
server.listen(0, '127.0.0.1', () => say({ port: server.address().port }));
process.stdin.on('end', () => process.exit(0)).resume(); // ends with whoever started it
