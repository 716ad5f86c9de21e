import type { Dispatcher } from 'undici';

/** Bytes read of a receiver's answer, and kept of it. */
const READ_BYTES = 65_536;
const KEPT_BYTES = 4_096;

export interface Answer {
  readonly statusCode: number;
  readonly retryAfter: string | undefined;
  /** Its first bytes. */
  readonly body: Uint8Array;
}

/**
 * One request and its answer, below streams: of the answer a bounded part is read as it comes, and nothing is held
 * beyond what is kept. A longer answer is cut off by closing its connection.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  private resolve!: (answer: Answer) => void;
  private reject!: (reason: unknown) => void;
  private controller: Dispatcher.DispatchController | null = null;
  private cutOffBy: Error | null = null;
  private statusCode = 0;
  private retryAfter: string | undefined;
  private readonly kept: Buffer[] = [];
  private keptBytes = 0;
  private readBytes = 0;

  constructor() {
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get isCutOff(): boolean {
    return this.cutOffBy !== null;
  }

  /** Ends the exchange with this reason, whether its connection is there yet or not. */
  cutOff(reason: Error): void {
    this.cutOffBy = reason;
    this.reject(reason);
    this.controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.cutOffBy) controller.abort(this.cutOffBy);
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // An interim answer says nothing of what was asked (RFC 9110, 15.2).
    if (statusCode < 200) return;
    this.statusCode = statusCode;
    const { 'retry-after': retryAfter } = headers;
    if (typeof retryAfter === 'string') this.retryAfter = retryAfter;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const wanted = chunk.subarray(0, KEPT_BYTES - this.keptBytes);
    // A copy: the chunk is part of a larger buffer.
    if (wanted.length > 0) this.kept.push(Buffer.from(wanted));
    this.keptBytes += wanted.length;
    this.readBytes += chunk.length;
    if (this.readBytes < READ_BYTES) return;
    this.finish();
    controller.abort(new Error('the answer is long enough'));
  }

  onResponseEnd(): void {
    this.finish();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.reject(error);
  }

  private finish(): void {
    const { statusCode, retryAfter, kept } = this;
    this.resolve({ statusCode, retryAfter, body: Buffer.concat(kept) });
  }
}
