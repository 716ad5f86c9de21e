import { describe, expect, it } from '@jest/globals';
import type { Request, Response } from 'express';
import { EventEmitter } from 'node:events';
import { setIdentified } from '../auth/authentication.js';
import { auditRequests } from './audit-requests.js';
import type { AuditRecord } from './audit-records.js';
import { setGivesPersonalData } from './personal-data.js';

const ORDERS = { parameter: 'orderId', path: '/api/v1/orders' };
const ID = '7F9C24E8-3b12-4f5e-9c1a-2d8e6b0a4c11';
const CALLER = { workspaceId: 'ws_1', actor: 'apiKey:Ab3dE6gH' };

interface Given {
  readonly path?: string;
  readonly caller?: 'reads persons' | 'known' | 'unknown';
  readonly status?: number;
  /** Whether the answer started before the connection closed. */
  readonly isAnswered?: boolean;
  readonly ip?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly location?: string;
}

/** How a request is recorded: by itself, in a tally, or not at all; and its record. */
const recordOf = (given: Given): { kind: 'admitted' | 'refused' | null; record: Partial<AuditRecord> } => {
  const { caller = 'unknown', status = 200, isAnswered = true, ip = '10.0.0.1', location } = given;
  let [kind, record]: [ReturnType<typeof recordOf>['kind'], Partial<AuditRecord>] = [null, {}];
  const take = (as: 'admitted' | 'refused') => (one: AuditRecord) => void ([kind, record] = [as, one]);
  const { path = '/api/v1/credits', params = {} } = given;
  const app = { router: { stack: [] } };
  const request = { method: 'GET', path, params, ip, socket: {}, app } as unknown as Request;
  const response = Object.assign(new EventEmitter(), {
    headersSent: isAnswered,
    statusCode: status,
    getHeader: (name: string) => (name === 'location' ? location : undefined),
  });
  auditRequests({ admitted: take('admitted'), refused: take('refused') }, { now: () => 0 }, ORDERS)(
    request,
    response as unknown as Response,
    () => undefined,
  );
  if (caller !== 'unknown') setIdentified(request, CALLER);
  if (caller === 'reads persons') setGivesPersonalData(request);
  response.emit('close');
  return { kind, record };
};

describe('a request is recorded', () => {
  it.each<[string, Given, 'admitted' | 'refused' | null, number | null]>([
    ['by itself when it got personal data', { caller: 'reads persons' }, 'admitted', 200],
    ['in a tally when its caller left before', { caller: 'known', isAnswered: false }, 'refused', 499],
    ['in a tally when the limit refuses it', { caller: 'known', status: 429 }, 'refused', 429],
    ['in a tally when nobody is known', { status: 401 }, 'refused', 401],
    ['in a tally when an unknown caller left a guarded route', { isAnswered: false }, 'refused', 499],
    ['in a tally for an unknown page', { path: '/nothing', status: 404 }, 'refused', 404],
    ['not when a public page was abandoned', { path: '/docs', isAnswered: false }, null, null],
    ['not when a public page was served', { path: '/docs' }, null, null],
  ])('%s', (_, given, kind, status) => {
    const told = recordOf(given);
    expect([told.kind, told.record.status ?? null]).toEqual([kind, status]);
  });

  it('with its address, in full where the caller is known', () => {
    const given = { status: 404, ip: '[2001:DB8:1:2::3]:4711' };
    expect(recordOf({ ...given, caller: 'known' }).record.address).toBe('2001:db8:1:2::3');
    expect(recordOf(given).record.address).toBe('2001:db8:1:2::/64');
  });
});

describe('a record names the audited resource', () => {
  it.each<[string, Given, string | null]>([
    ['that the route names', { params: { orderId: ID } }, ID.toLowerCase()],
    ['that the request created', { location: `/api/v1/orders/${ID}` }, ID.toLowerCase()],
    ['and none below it', { location: `/api/v1/orders/${ID}/lines` }, null],
    ['and no other resource', { location: `/api/v1/bills/${ID}`, params: { billId: ID } }, null],
    ['and only valid ids', { params: { orderId: 'somebody' } }, null],
  ])('%s', (_, given, expected) => {
    expect(recordOf({ caller: 'known', ...given }).record.readingId).toBe(expected);
  });
});
