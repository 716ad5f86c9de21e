export const useCasesMayAskTheClock = Date.now();
