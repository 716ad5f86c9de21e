export const CONFIG = Symbol('Config');
export const CLOCK = Symbol('Clock');
