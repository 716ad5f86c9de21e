// caught by: typescript(no-floating-promises): await
// caught by: typescript(no-misused-promises): Promise
const work = (): Promise<void> => Promise.resolve();

work();
[1].forEach(async () => work());
