/** An attempt that takes longer (ms) is overdue. Its endpoint may hold a place for long. */
export const PROMPT_MS = 1_000;
/**
 * An attempt at an unproven endpoint that takes longer (ms) leaves its place among the young ones: it costs nothing while it
 * waits. So hundreds of endpoints that do not answer are known within seconds.
 */
export const UNPROVEN_MS = 250;
/** A workspace that got no place asks again within this time (ms); after twice as long, its turn is forgotten. */
export const REST_MS = 2_000;
/** Young attempts of a worker: what one process can do at a time. */
const YOUNG_PLACES = 128;
/** All attempts of a worker: what its memory and connections allow. */
const ALL_PLACES = 1_000;
/** Endpoints remembered; the one forgotten first is met anew. */
const REMEMBERED = 10_000;

/**
 * - proven: its last attempt ended promptly, whatever the outcome. It gives places back.
 * - unknown: this worker has seen none of its attempts end.
 * - suspect: it has failed before this worker met it, its last attempt was overdue, or one is overdue now.
 */
export type Standing = 'proven' | 'unknown' | 'suspect';

/** Below this share of the places, suspects may hold several each. */
const ROOMY = 1 / 4;

/** An endpoint as a worker knows it. */
export interface KnownEndpoint {
  readonly endpointId: string;
  readonly workspaceId: string;
  inFlight: number;
  overdue: number;
  /** Its last attempt was overdue. */
  isSlow: boolean;
  /** Attempts in a row that ended promptly. */
  promptEnds: number;
  hasSucceeded: boolean;
  /** When its last attempt started. */
  servedAt: number;
}

/** An attempt that holds a place. */
export interface Place {
  readonly endpoint: KnownEndpoint;
  readonly startedAt: number;
  standing: Standing;
  isOverdue: boolean;
  /** It is one of the attempts that a process can make at a time. */
  isYoung: boolean;
}

type Unproven = Exclude<Standing, 'proven'>;
/** What suspects may hold of the places, and what they may together with unknown endpoints. */
const SHARES = { suspect: 1 / 2, unknown: 3 / 4 } as const;

/** Counts the places that are held. */
class Level {
  private suspects = 0;
  private unproven = 0;
  private held = 0;

  constructor(private readonly places: number) {}

  add(standing: Standing, change: 1 | -1): void {
    this.held += change;
    if (standing !== 'proven') this.unproven += change;
    if (standing === 'suspect') this.suspects += change;
  }

  freeFor(standing: Standing): number {
    const free = this.places - this.held;
    if (standing === 'proven') return free;
    const freeForUnknown = Math.min(free, this.shareOf('unknown') - this.unproven);
    return standing === 'unknown'
      ? freeForUnknown
      : Math.min(freeForUnknown, this.shareOf('suspect') - this.suspects);
  }

  shareOf(standing: Unproven): number {
    return this.places * SHARES[standing];
  }

  get isRoomy(): boolean {
    return this.suspects < this.places * ROOMY;
  }
}

/** Workspaces that got no place, the one that has waited longest first, and when they last asked. */
class Waiting {
  private readonly askedAt = new Map<string, number>();

  ask(workspaceId: string, now: number): void {
    this.askedAt.set(workspaceId, now);
  }

  served(workspaceId: string): void {
    this.askedAt.delete(workspaceId);
  }

  /** How many have waited longer. Those that do not ask any more lose their turn. */
  before(workspaceId: string, now: number): number {
    let before = 0;
    for (const [waiting, askedAt] of this.askedAt) {
      if (waiting === workspaceId) return before;
      if (now - askedAt > 2 * REST_MS) this.askedAt.delete(waiting);
      else before += 1;
    }
    return before;
  }
}

/**
 * Gives a worker's places to attempts, by share and not by arrival: first by standing, then by workspace, then by endpoint. So
 * endpoints that never answer, however many, leave places to those that do. Times are milliseconds of a monotonic clock.
 *
 * - Suspects hold half of the places at most, and one each while their share is not roomy. The workspace that has waited
 *   longest gets the next one.
 * - An endpoint that no attempt has ended at gets one place.
 * - Each prompt end allows one more, up to the limit of the endpoint.
 */
export class Places {
  private readonly known = new Map<string, KnownEndpoint>();
  private readonly young = new Level(YOUNG_PLACES);
  private readonly all = new Level(ALL_PLACES);
  /** Attempts that are not overdue, the oldest first. */
  private readonly inTime = new Set<Place>();
  /** Suspect places by workspace. */
  private readonly suspectsOf = new Map<string, number>();
  /** Young attempts at unproven endpoints, the oldest first. */
  private readonly trials = new Set<Place>();
  private readonly waiting = { unknown: new Waiting(), suspect: new Waiting() };

  /** Attempts in flight that are not overdue. */
  get inFlight(): number {
    return this.inTime.size;
  }

  /** Attempts that may start now at proven endpoints. */
  get available(): number {
    return this.freeFor('proven');
  }

  /** @param consecutiveFailures as stored, for an endpoint that this worker meets for the first time */
  meet(endpointId: string, workspaceId: string, consecutiveFailures: number): KnownEndpoint {
    const known = this.known.get(endpointId) ?? {
      endpointId,
      workspaceId,
      inFlight: 0,
      overdue: 0,
      isSlow: consecutiveFailures > 0,
      promptEnds: 0,
      hasSucceeded: false,
      servedAt: Number.NEGATIVE_INFINITY,
    };
    // The last one met is forgotten last.
    this.known.delete(endpointId);
    this.known.set(endpointId, known);
    if (this.known.size > REMEMBERED) this.forgetOne();
    return known;
  }

  standing({ overdue, isSlow, promptEnds }: KnownEndpoint): Standing {
    if (overdue > 0 || isSlow) return 'suspect';
    return promptEnds > 0 ? 'proven' : 'unknown';
  }

  /** Deliveries of an endpoint that may be in flight, over all workers. @param limit the setting */
  window(endpoint: KnownEndpoint, limit: number): number {
    const standing = this.standing(endpoint);
    if (standing === 'proven') return Math.min(limit, endpoint.promptEnds + 1);
    const isSlowOnly = standing === 'suspect' && endpoint.hasSucceeded;
    return isSlowOnly && this.isRoomy ? limit : Math.min(limit, 1);
  }

  /** May an attempt at the endpoint start? A suspect that may not gets a turn later. */
  allows(endpoint: KnownEndpoint, now: number): boolean {
    const standing = this.standing(endpoint);
    if (standing === 'proven') return this.freeFor(standing) > 0;
    if (standing === 'suspect' && this.isServed(endpoint)) return false;
    const { workspaceId } = endpoint;
    const waiting = this.waiting[standing];
    // Unknown endpoints need no turns: each becomes known after its first attempt.
    const before = standing === 'suspect' ? waiting.before(workspaceId, now) : 0;
    if (this.freeFor(standing) > before) return true;
    waiting.ask(workspaceId, now);
    return false;
  }

  /**
   * When an endpoint that has something to send should ask again (ms): about when its turn comes, so that those that wait do
   * not all come back at once, before others whose events are new. `null`: at once; it has a place, or the worker is busy.
   */
  restMs(endpoint: KnownEndpoint, now: number): number | null {
    const standing = this.standing(endpoint);
    if (standing === 'proven' || this.allows(endpoint, now)) return null;
    if (this.all.freeFor(standing) <= 0 || (standing === 'suspect' && this.isServed(endpoint)))
      return REST_MS;
    const before = this.waiting[standing].before(endpoint.workspaceId, now);
    const rounds = 1 + Math.floor(before / this.young.shareOf(standing));
    return Math.min(REST_MS, rounds * UNPROVEN_MS);
  }

  start(endpoint: KnownEndpoint, now: number): Place {
    const standing = this.standing(endpoint);
    const place = { endpoint, startedAt: now, standing, isOverdue: false, isYoung: true };
    endpoint.inFlight += 1;
    endpoint.servedAt = now;
    this.inTime.add(place);
    this.young.add(standing, 1);
    this.hold(place, 1);
    if (standing === 'proven') return place;
    this.trials.add(place);
    this.waiting[standing].served(endpoint.workspaceId);
    return place;
  }

  end(place: Place, now: number, hasSucceeded: boolean): void {
    this.look(now);
    const { endpoint } = place;
    endpoint.inFlight -= 1;
    endpoint.isSlow = place.isOverdue;
    endpoint.promptEnds = place.isOverdue ? 0 : endpoint.promptEnds + 1;
    endpoint.hasSucceeded = hasSucceeded;
    if (place.isOverdue) endpoint.overdue -= 1;
    this.inTime.delete(place);
    this.leaveYoung(place);
    this.hold(place, -1);
  }

  /** Notes which attempts are overdue by now, and which are young no more. */
  look(now: number): void {
    for (const place of this.trials) {
      if (now - place.startedAt <= UNPROVEN_MS) break;
      this.leaveYoung(place);
    }
    for (const place of this.inTime) {
      if (now - place.startedAt <= PROMPT_MS) return;
      this.inTime.delete(place);
      this.leaveYoung(place);
      this.hold(place, -1);
      place.standing = 'suspect';
      place.isOverdue = true;
      place.endpoint.overdue += 1;
      this.hold(place, 1);
    }
  }

  private get isRoomy(): boolean {
    return this.young.isRoomy && this.all.isRoomy;
  }

  private freeFor(standing: Standing): number {
    return Math.min(this.young.freeFor(standing), this.all.freeFor(standing));
  }

  private hold({ standing, endpoint: { workspaceId } }: Place, change: 1 | -1): void {
    this.all.add(standing, change);
    if (standing !== 'suspect') return;
    const held = (this.suspectsOf.get(workspaceId) ?? 0) + change;
    if (held === 0) this.suspectsOf.delete(workspaceId);
    else this.suspectsOf.set(workspaceId, held);
  }

  /** Its workspace has a suspect in flight, and there is no room for more of each. */
  private isServed({ workspaceId }: KnownEndpoint): boolean {
    return !this.isRoomy && (this.suspectsOf.get(workspaceId) ?? 0) > 0;
  }

  private leaveYoung(place: Place): void {
    if (!place.isYoung) return;
    place.isYoung = false;
    this.trials.delete(place);
    this.young.add(place.standing, -1);
  }

  private forgetOne(): void {
    for (const { endpointId, inFlight } of this.known.values())
      if (inFlight === 0) {
        this.known.delete(endpointId);
        return;
      }
  }
}
