import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { OpenCalls } from './context.js';
import { stopping, toRpcError } from './rpc-error.js';

/** The part of a streaming call, one-way or duplex, that an outlet uses. */
interface SendingCall {
  write(message: Buffer): boolean;
  end(): unknown;
  emit(event: 'error', error: Error): boolean;
  on(event: 'cancelled' | 'close' | 'error' | 'drain', listener: () => void): unknown;
}

/** The sending side of a streaming call: back-pressure, cancellation, and exactly one end. */
export class Outlet {
  private ended = false;
  private readonly wakes = new Set<() => void>();
  private readonly forget: () => void;

  constructor(
    private readonly call: SendingCall,
    calls: OpenCalls,
  ) {
    this.forget = calls.add(() => {
      this.fail(stopping());
    });
    for (const event of ['cancelled', 'close', 'error'] as const) call.on(event, () => this.close());
    call.on('drain', () => this.wake());
  }

  /** Whether nothing more can be sent. */
  get closed(): boolean {
    return this.ended;
  }

  /** Sends one message. Resolves when there is room for the next one or the call has ended. */
  async send(message: Buffer | ReadResp): Promise<void> {
    const bytes = Buffer.isBuffer(message) ? message : Buffer.from(message.serializeBinary());
    if (!this.ended && !this.call.write(bytes)) await this.wait(() => () => undefined);
  }

  /** Resolves as soon as `subscribe` calls back, there is room to send, or the call has ended. */
  async wait(subscribe: (wake: () => void) => () => void): Promise<void> {
    if (this.ended) return;
    let withdraw = (): void => undefined;
    await new Promise<void>((resolve) => {
      this.wakes.add(resolve);
      withdraw = subscribe(resolve);
    });
    withdraw();
  }

  end(): void {
    if (this.ended) return;
    this.close();
    this.call.end();
  }

  fail(error: unknown): void {
    if (this.ended) return;
    this.close();
    this.call.emit('error', toRpcError(error));
  }

  private close(): void {
    this.ended = true;
    this.forget();
    this.wake();
  }

  private wake(): void {
    const wakes = [...this.wakes];
    this.wakes.clear();
    for (const wake of wakes) wake();
  }
}
