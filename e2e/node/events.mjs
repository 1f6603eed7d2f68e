// Follows a job's events with an EventSource, as any page would, and tells the
// gateway of all it is told: the same code in a browser and in Node.js.

export async function follow(EventSource, base, id) {
  let last = Promise.resolve();
  const report = (kind, more = {}) => {
    const body = JSON.stringify({ kind, ...more });
    last = last.then(() => fetch(`${base}/report`, { method: 'POST', body }));
    return last;
  };
  const ended = fetch(`${base}/v1/jobs/${id}`, { headers: { Prefer: 'wait=45' } });
  const source = new EventSource(`${base}/v1/jobs/${id}/events`);
  source.onopen = () => report('open');
  source.onmessage = (message) => report('message', { id: message.lastEventId, data: message.data });
  source.addEventListener('end', () => report('end'));
  // It is not closed at the end: what tells it not to come again is the 204.
  const closed = new Promise((resolve) => {
    source.onerror = async () => {
      if (source.readyState !== 2) return;
      await report('closed');
      resolve();
    };
  });
  const response = await ended;
  const { state } = await response.json();
  await report('waited', { state, applied: response.headers.get('Preference-Applied') });
  await closed;
}

if (globalThis.process?.argv) {
  const [, , which, base, id] = process.argv;
  const { EventSource } = which === 'npm' ? await import('eventsource') : globalThis;
  // Node's own does not keep the process alive while it waits to come again.
  const alive = setInterval(() => {}, 1000);
  await follow(EventSource, base, id);
  clearInterval(alive);
}
