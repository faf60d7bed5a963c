use aqm::unit::*; use scenario::model::*; use scenario::Start;
fn main(){
  let a:Vec<String>=std::env::args().collect();
  let buf:u32=a[2].parse().unwrap();
  let fl=match a[1].as_str(){"Tahoe"=>Flavour::Tahoe,"Reno"=>Flavour::Reno,"Newreno"=>Flavour::NewReno,_=>Flavour::Sack};
  let mk=|name:&str,from,to,rate,delay,buffer,aqm|Link{name:name.into(),from,to,rate:Rate::mbit_per_s(rate),delay,buffer:Limit::Packets(buffer),aqm,packet:Bytes(500)};
  let p=aqm::AnyParams::of("droptail").unwrap();
  let links=vec![mk("b",0,1,10,Span::ms(25),buf-1,Some(p)),mk("br",1,0,10,Span::ms(25),100000,None),
   mk("s",2,0,1000,Span::ZERO,100000,None),mk("sr",0,2,1000,Span::ZERO,100000,None),mk("r",1,3,1000,Span::ZERO,100000,None),mk("rr",3,1,1000,Span::ZERO,100000,None)];
  let tcp=Tcp{flavour:fl,max_window:65535,..Tcp::preset("ns2.35").unwrap()};
  let sc=scenario::Scenario{general:General{duration:Span::s(60),warmup:Span::s(10),..Default::default()},response:Default::default(),record:Record{cwnd:Some(Span::ms(100)),..Default::default()},nodes:vec!["a".into(),"b".into(),"c".into(),"d".into()],links,observed:0,
   traffic:vec![Traffic{name:"long".into(),from:vec![2],to:vec![3],count:1,packet_size:Bytes(500),start:Start::At(Span::ZERO),stop:None,kind:Kind::Ftp(tcp)}]};
  let mut s=netsim::Simulation::new(sc,1,()); s.advance(Time::MAX);
  for w in s.windows() { println!("{:.1},{:.4},{:.0}",w.t,w.cwnd,w.ssthresh); }
  let m=s.results(); let k=&m.metrics;
  eprintln!("{} q {:.3} loss {:.6} goodput {:.4} to {} rx {} drops {}",a[1],k.link.queue_mean.unwrap(),k.link.traffic.loss_ratio.unwrap(),k.flows.goodput/1e6*500./460.,k.flows.timeouts,k.flows.retransmits,k.link.traffic.drops_overflow);
}
