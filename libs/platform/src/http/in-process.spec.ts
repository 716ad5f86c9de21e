import { describe, expect, it } from '@jest/globals';
import express from 'express';
import { insiderOf, type Principal } from '../auth/authentication.js';
import { insideCaller } from './in-process.js';

const principal: Principal = {
  authMode: 'session',
  workspaceId: 'ws_1',
  mode: 'live',
  sees: ['live'],
  actor: 'portal:1',
  scopes: [],
};
const closed: string[] = [];

const app = express();
app.use(express.raw({ type: () => true }));
app.use((request, response, next) => {
  response.once('close', () => closed.push(request.path));
  next();
});
app.get('/who', (request, response) => {
  const { remoteAddress, localPort } = request.socket;
  response.set('X-Seen', request.get('x-sent')).json({ as: insiderOf(request), remoteAddress, localPort });
});
app.post('/echo', (request, response) => {
  response.status(201).end(request.body as Buffer);
});
app.get('/large', (_, response) => {
  response.write(Buffer.alloc(1_000_000, 'a'));
  response.end(Buffer.alloc(1_000_000, 'b'));
});
app.delete('/gone', (_, response) => void response.status(204).end());
app.get('/broken', (_, response) => void response.destroy());

const call = insideCaller(app);
const to = (method: 'GET' | 'POST' | 'DELETE', path: string) => ({
  method,
  path,
  principal,
  connection: { remoteAddress: '203.0.113.7', localPort: 3000 },
});

describe('a call inside the process', () => {
  it('has the caller, the headers and the person’s connection', async () => {
    const { status, headers, body } = await call({ ...to('GET', '/who'), headers: { 'x-sent': 'yes' } });
    // As on a connection, so that records are written.
    expect(closed).toEqual(['/who']);
    expect([status, headers['x-seen']]).toEqual([200, 'yes']);
    expect(JSON.parse(body.toString())).toEqual({
      as: principal,
      remoteAddress: '203.0.113.7',
      localPort: 3000,
    });
  });

  it('carries bodies both ways, byte by byte', async () => {
    const sent = await call({ ...to('POST', '/echo'), body: '{"name":"Zoé\\r\\n\\r\\n"}' });
    expect([sent.status, sent.body.toString()]).toEqual([201, '{"name":"Zoé\\r\\n\\r\\n"}']);
    const { body } = await call(to('GET', '/large'));
    expect([body.length, body[999_999], body[1_000_000]]).toEqual([2_000_000, 97, 98]);
    expect((await call(to('DELETE', '/gone'))).body).toHaveLength(0);
  });

  it('fails when the route gives up on its answer', async () => {
    await expect(call(to('GET', '/broken'))).rejects.toThrow('without an answer');
  });
});
