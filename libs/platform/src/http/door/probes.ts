/** How long the last answer to a probe may be repeated (ms). */
const FRESH_MS = 1_000;

export interface ProbeAnswer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/**
 * The last answers to the probes of load balancers. A caller that asks too often gets the last answer again. A balancer
 * must get an answer even if it shares its address with a flood, and a repeated answer costs no more than a refusal.
 */
export class Probes {
  private readonly last = new Map<string, ProbeAnswer & { readonly at: number }>();

  /** @param now milliseconds of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {}

  isProbe(method: string | undefined, path: string): boolean {
    return (path === '/healthz' || path === '/readyz') && (method === 'GET' || method === 'HEAD');
  }

  remember(path: string, answer: ProbeAnswer): void {
    this.last.set(path, { ...answer, at: this.now() });
  }

  /** The last answer, or `null` when it is too old to repeat. */
  recent(path: string): ProbeAnswer | null {
    const last = this.last.get(path);
    return last && this.now() - last.at < FRESH_MS ? last : null;
  }
}
