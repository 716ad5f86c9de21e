import { Worker } from 'node:worker_threads';
import type { Folded } from '@app/event-sourcing/handling/folded.js';
import type { EncodedEvent } from '@app/event-sourcing/store/read-answer.js';
import { programPath } from '@app/platform/program-path.js';
import type { BalanceRow } from '../../../audit/book-balances.js';
import type { Credits } from '../../../domain/credits/credits.state.js';
import type { ReadingFact } from '../../../audit/settlements.js';
import type { LogPart, PartResult, PartTask } from './log-part.js';
import type { ThreadAnswer, ThreadCall } from './messages.js';
import { packEvents } from './packed-events.js';

/** MiB. Received events die young; with less room, many are copied. */
const YOUNG_GENERATION = 96;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A part of the log that a thread of its own judges. */
export class ThreadPart implements LogPart<EncodedEvent> {
  private readonly worker: Worker;
  private readonly waiting: Waiting[] = [];
  private failure: Error | null = null;

  constructor(task: PartTask) {
    this.worker = new Worker(programPath('ledger-thread'), {
      workerData: task,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION },
    });
    this.worker.on('message', (message: ThreadAnswer) => {
      const call = this.waiting.shift();
      if ('returned' in message) call?.resolve(message.returned);
      else call?.reject(message.thrown);
    });
    this.worker.on('error', (error) => this.fail(error));
    this.worker.on('exit', () => this.fail(new Error('A thread that judges the ledger ended')));
  }

  take(events: readonly EncodedEvent[]): Promise<readonly ReadingFact[]> {
    const packed = packEvents(events);
    return this.call('take', packed, [packed.bytes.buffer]);
  }

  folded(workspaceId: string): Promise<Folded<Credits> | null> {
    return this.call('folded', workspaceId);
  }

  openUntil(period: string): Promise<readonly string[]> {
    return this.call('openUntil', period);
  }

  refresh(rows: ReadonlyMap<string, BalanceRow>): Promise<void> {
    return this.call('refresh', rows);
  }

  result(): Promise<PartResult> {
    return this.call('result', undefined);
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  private call<T>(
    method: ThreadCall['method'],
    argument: unknown,
    handedOver: readonly ArrayBuffer[] = [],
  ): Promise<T> {
    if (this.failure) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve: resolve as Waiting['resolve'], reject });
      this.worker.postMessage({ method, argument } satisfies ThreadCall, handedOver);
    });
  }

  private fail(error: Error): void {
    this.failure ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(this.failure);
  }
}
