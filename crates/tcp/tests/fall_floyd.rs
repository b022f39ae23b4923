//! x
mod common;
use celltrain_engine::time::*;
use celltrain_tcp::EventKind;
use common::*;
#[test]
fn explore() {
  for (queue, pats) in [(8, [&[14u64][..], &[14,28], &[14,26,28],&[14,24,26,28]]),(100, [&[100u64][..], &[100,104], &[100,104,108],&[100,104,108,112]])] {
    for recovery in ["tahoe","reno","newreno","sack"] {
        for drops in pats {
            let p = params(&format!("stack = \"newreno\"\nrecovery=\"{recovery}\"\nmss=\"1000 B\"\nreceive-window=\"28000 B\"\ninitial-window=1\ndelayed-ack=\"0 s\"\nlimited-transmit=false"));
            let list: Vec<_> = drops.iter().map(|d| (d*1000,1)).collect();
            let mut rig = Rig::new(&p, &[(8_000_000,0,100),(800_000,100*MILLISECOND,queue)], lose(&list));
            rig.sender.trace(true);
            rig.sender.offer(0, u64::MAX);
            rig.run_until(4*SECOND);
            let s = *rig.sender.stats();
            let ev = rig.sender.take_events();
            let (t0, rec) = ev.iter().find_map(|e| match e.kind { EventKind::FastRetransmit{recover,..} => Some((e.at,recover)), _=>None}).unwrap();
            let t1 = ev.iter().find(|e| matches!(e.kind, EventKind::Acknowledged{ack,..} if ack>=rec)).unwrap().at;
            println!("{recovery} {drops:?} ov {} to {} fr {} rtx {} ms {}", rig.overflows, s.timeouts, s.fast_retransmits, s.retransmitted_segments, (t1-t0)/MILLISECOND);
            if recovery=="reno" || queue==100 {for e in ev { match e.kind { celltrain_tcp::EventKind::FastRetransmit{..}|celltrain_tcp::EventKind::Timeout{..}|celltrain_tcp::EventKind::RecoveryExited{..}|celltrain_tcp::EventKind::PartialAck{..} => println!("   {:.3} {:?}", seconds(e.at), e.kind), celltrain_tcp::EventKind::Sent{seq,retransmission:true,..}=>println!("   {:.3} rtx {}", seconds(e.at), seq/1000), _=>{}}}}
        }
    }
  }
}
