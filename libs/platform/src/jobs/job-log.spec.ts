import { beforeEach, describe, expect, it } from '@jest/globals';
import { JobLog } from './job.js';

let lines: { level: string; message: string; [field: string]: unknown }[];
let log: JobLog;
beforeEach(() => {
  lines = [];
  const note = (level: string) => (details: object, message: string) =>
    void lines.push({ level, message, ...details });
  log = new JobLog({ warn: note('warn'), error: note('error') } as never);
});

const fails = (id: number, attempts: number, error: Error) =>
  log.say('error', `Failed task ${id}`, {
    failure: true,
    error,
    job: {
      id: String(id),
      task_identifier: 'readings.generate',
      attempts,
      max_attempts: 25,
      payload: { correlationId: `req_${id}`, readingId: `r${id}` },
    },
  });

describe('the log of jobs', () => {
  it('has one line for a failure that many attempts share, as it is and with the ids of its request', () => {
    const error = new Error('the store is away');
    for (let attempt = 1; attempt < 20; attempt += 1) for (const id of [1, 2]) fails(id, attempt, error);
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'error',
        jobId: '1',
        attempt: 1,
        maxAttempts: 25,
        times: 1,
        err: error,
      }),
    ]);
    expect(lines[0]).toMatchObject({ task: 'readings.generate', requestId: 'req_1', readingId: 'r1' });
  });

  it('has each failure of another kind, and each job that has no attempts left', () => {
    fails(1, 1, new Error('away'));
    fails(1, 2, new TypeError('a bug'));
    fails(1, 25, new Error('away'));
    fails(2, 25, new Error('away'));
    expect(lines.map(({ message, jobId }) => `${String(jobId)} ${message}`)).toEqual([
      ...['1', '1'].map((id) => `${id} a job failed; it is tried again`),
      ...['1', '2'].map((id) => `${id} a job failed and has no attempts left`),
    ]);
  });
});
