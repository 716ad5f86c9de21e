import { expect, it } from '@jest/globals';
import { tmpdir } from 'node:os';
import { Registry } from 'prom-client';
import { DiskReserve, measureDisk } from './disk-reserve.js';

const MORE_THAN_ANY_DISK = 1_000_000_000;

it.each([
  ['one that is free', tmpdir(), 0, true],
  ['one larger than the disk', tmpdir(), MORE_THAN_ANY_DISK, false],
  ['any in a folder that cannot be read', '/no/such/folder', 0, false],
  ['any without a folder', undefined, MORE_THAN_ANY_DISK, true],
])('Of a reserve, %s is kept or not', (_, folder, reserve, isKept) => {
  expect(new DiskReserve({ DISK_FOLDER: folder, DISK_RESERVE_MIB: reserve }).isKept()).toBe(isKept);
});

it('The disk has a metric', async () => {
  const registry = new Registry();
  measureDisk({ DISK_FOLDER: '/no/such/folder', DISK_RESERVE_MIB: 1 }, registry);
  expect(await registry.metrics()).toMatch(/^disk_free_bytes -1$/m);
});
