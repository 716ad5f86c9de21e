import type { handleServerStreamingCall } from '@grpc/grpc-js';
import monitoringPb from '@eventstore/db-client/generated/monitoring_pb.js';
import type { StatsReq, StatsResp } from '@eventstore/db-client/generated/monitoring_pb.js';

/** Open calls on the whole server, including the one that asks. */
export const OPEN_CALLS = 'es-grpc-openCalls';

const SHORTEST_PERIOD_MS = 100;

/** Monitoring.Stats: sends the figures now and again after each requested period, until the caller disconnects. */
export const stats =
  (openCalls: () => number): handleServerStreamingCall<StatsReq, StatsResp> =>
  (call) => {
    const send = (): void => {
      const response = new monitoringPb.StatsResp();
      response.getStatsMap().set(OPEN_CALLS, String(openCalls()));
      call.write(response);
    };
    send();
    const period = Math.max(SHORTEST_PERIOD_MS, Number(call.request.getRefreshTimePeriodInMs()) || 0);
    const timer = setInterval(send, period);
    timer.unref();
    for (const event of ['cancelled', 'close', 'error'] as const) call.on(event, () => clearInterval(timer));
  };
