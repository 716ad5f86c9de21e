// caught by: typescript(switch-exhaustiveness-check): reject
export const answer = (outcome: 'accept' | 'reject'): number => {
  switch (outcome) {
    case 'accept':
      return 1;
  }
  return 0;
};
