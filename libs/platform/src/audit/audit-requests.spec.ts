import { describe, expect, it } from '@jest/globals';
import type { Request, Response } from 'express';
import { EventEmitter } from 'node:events';
import { setIdentified, setPrincipal, type Principal } from '../auth/authentication.js';
import { setCounted } from '../rate-limit/counted.js';
import { auditRequests } from './audit-requests.js';
import type { AuditRecord } from './audit-record.js';
import type { AuditTrail } from './audit-trail.js';

const principal: Principal = {
  authMode: 'apiKey',
  mode: 'live',
  sees: ['live'],
  workspaceId: 'ws_1',
  actor: 'apiKey:Ab3dE6gH',
  scopes: [],
};

interface Given {
  readonly path?: string;
  readonly caller?: 'counted' | 'accepted' | 'unknown';
  readonly status: number;
  /** Whether the answer started before the connection closed. */
  readonly isAnswered: boolean;
  readonly forwardedFor?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly location?: string;
}

const ORDERS = { parameter: 'orderId', path: '/api/v1/orders' };
const ID = '7F9C24E8-3b12-4f5e-9c1a-2d8e6b0a4c11';

/** How a request is recorded, by itself or in a tally, and the record; `undefined`: not at all. */
const recordOf = ({
  path = '/api/v1/credits',
  caller = 'unknown',
  status,
  isAnswered,
  forwardedFor,
  params = {},
  location,
}: Given) => {
  const told: [kind: 'admitted' | 'refused', record: AuditRecord][] = [];
  const trail: Pick<AuditTrail, 'admitted' | 'refused'> = {
    admitted: (record) => void told.push(['admitted', record]),
    refused: (record) => void told.push(['refused', record]),
  };
  const request = {
    method: 'GET',
    path,
    params,
    headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
    socket: { remoteAddress: '10.0.0.1' },
    app: { router: { stack: [] } },
  } as unknown as Request;
  const response = Object.assign(new EventEmitter(), {
    headersSent: isAnswered,
    statusCode: status,
    getHeader: (name: string) => (name === 'location' ? location : undefined),
  });
  auditRequests(
    trail,
    { now: () => 0 },
    ORDERS,
    1,
  )(request, response as unknown as Response, () => undefined);
  if (caller !== 'unknown') {
    setIdentified(request, principal);
    setPrincipal(request, principal);
  }
  if (caller === 'counted') setCounted(request);
  response.emit('close');
  return told[0];
};

/** How it is recorded: by itself, in a tally, or not at all. */
const recorded = (given: Given) => {
  const [kind, record] = recordOf(given) ?? [];
  return kind && record ? [kind, record.status, record.address] : null;
};

describe('a request is recorded', () => {
  it.each<[string, Given, 'admitted' | 'refused', number]>([
    [
      'by itself when the rate limit let it in',
      { caller: 'counted', status: 200, isAnswered: true },
      'admitted',
      200,
    ],
    [
      'by itself when its caller disconnected after that',
      { caller: 'counted', status: 200, isAnswered: false },
      'admitted',
      499,
    ],
    [
      'by itself when another limit refuses it',
      { caller: 'counted', status: 429, isAnswered: true },
      'admitted',
      429,
    ],
    [
      'in a tally when its caller disconnected before the verdict',
      { caller: 'accepted', status: 200, isAnswered: false },
      'refused',
      499,
    ],
    [
      'in a tally when the rate limit refuses it',
      { caller: 'accepted', status: 429, isAnswered: true },
      'refused',
      429,
    ],
    ['in a tally when nobody is authenticated', { status: 401, isAnswered: true }, 'refused', 401],
    [
      'in a tally when an unknown caller abandoned a guarded route',
      { status: 200, isAnswered: false },
      'refused',
      499,
    ],
  ])('%s', (_, given, kind, status) => expect(recorded(given)).toEqual([kind, status, '10.0.0.1']));

  it('not when a public page was abandoned, or served', () => {
    expect(recorded({ path: '/docs', status: 200, isAnswered: false })).toBeNull();
    expect(recorded({ path: '/docs', status: 200, isAnswered: true })).toBeNull();
    expect(recorded({ path: '/nothing', status: 404, isAnswered: true })).toEqual([
      'refused',
      404,
      '10.0.0.1',
    ]);
  });

  it('with the address that the limits count, in full where the caller is known', () => {
    const forwardedFor = '192.0.2.1, [2001:DB8:1:2::3]:4711';
    const given = { status: 404, isAnswered: true, forwardedFor };
    expect(recorded({ ...given, caller: 'counted' })?.[2]).toBe('2001:db8:1:2::3');
    expect(recorded(given)?.[2]).toBe('2001:db8:1:2::/64');
  });
});

describe('a record names the audited resource', () => {
  const answered = { caller: 'counted', status: 200, isAnswered: true } as const;
  it.each<[string, Partial<Given>, string | null]>([
    ['that the route names', { params: { orderId: ID } }, ID.toLowerCase()],
    ['that the request created', { location: `/api/v1/orders/${ID}` }, ID.toLowerCase()],
    ['and none below it', { location: `/api/v1/orders/${ID}/lines` }, null],
    ['and no other resource', { location: `/api/v1/bills/${ID}`, params: { billId: ID } }, null],
    ['and only valid ids', { params: { orderId: 'somebody' } }, null],
  ])('%s', (_, given, expected) => {
    expect(recordOf({ ...answered, ...given })?.[1].readingId).toBe(expected);
  });
});
