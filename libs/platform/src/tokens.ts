export const CONFIG = Symbol('Config');
export const CLOCK = Symbol('Clock');
/** The clock for elapsed time within a process. */
export const STEADY_CLOCK = Symbol('SteadyClock');
/** The clock for work that time causes and for the dates of credit books: a `TrustedClock`. */
export const TRUSTED_CLOCK = Symbol('TrustedClock');
export const LOGGER = Symbol('Logger');
