// caught by: @typescript-eslint/no-floating-promises: await
// caught by: @typescript-eslint/no-misused-promises: Promise
const work = (): Promise<void> => Promise.resolve();

work();
[1].forEach(async () => work());
