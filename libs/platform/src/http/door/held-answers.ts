import type { ServerResponse } from 'node:http';

/** Maximum number of held answers per address. */
const OF_ADDRESS = 16;

/**
 * Delays refusals, so that a caller that retries immediately sends about one request per second on each connection
 * instead of ten thousand. The delays vary, so that retries do not coincide. Each connection has one request in
 * progress, so the number of connections bounds the held answers.
 */
export class HeldAnswers {
  private readonly ofAddress = new Map<string, number>();

  /** @param milliseconds the average delay; delays range from half to one and a half of it */
  constructor(private readonly milliseconds: number) {}

  /** Closes the connection instead when the address has too many held answers. */
  hold(address: string, response: ServerResponse, answer: () => void): void {
    if (response.destroyed || response.socket?.destroyed) return;
    const held = this.ofAddress.get(address) ?? 0;
    if (held >= OF_ADDRESS) {
      response.socket?.resetAndDestroy();
      return;
    }
    this.ofAddress.set(address, held + 1);
    const timer = setTimeout(
      () => {
        response.removeListener('close', left);
        this.release(address);
        answer();
      },
      this.milliseconds * (0.5 + Math.random()),
    );
    const left = (): void => {
      clearTimeout(timer);
      this.release(address);
    };
    response.once('close', left);
  }

  private release(address: string): void {
    const rest = (this.ofAddress.get(address) ?? 1) - 1;
    if (rest > 0) this.ofAddress.set(address, rest);
    else this.ofAddress.delete(address);
  }
}
