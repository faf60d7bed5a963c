use aqm::unit::*; use scenario::model::*; use scenario::Start;
fn main(){
  let a:Vec<String>=std::env::args().collect();
  let aqm=a[1].clone(); let n:u32=a[2].parse().unwrap(); let seed:u64=a[3].parse().unwrap();
  let series = a.get(4).is_some();
  let mut p=aqm::AnyParams::of(&aqm).unwrap();
  for (k,v) in [("q0",aqm::params::Value::Integer(100))] { let _=p.set(k,&v); }
  if aqm=="rem" { p.set("form",&aqm::params::Value::Text("ns2".into())).unwrap(); }
  let mut nodes=vec!["r1".to_string(),"r2".into()]; let mut links=vec![];
  let mk=|name:String,from,to,rate,delay,buffer,aqm|Link{name,from,to,rate,delay,buffer,aqm,packet:Bytes(500)};
  let lim = if aqm=="droptail"||aqm=="rem" {199} else {200};
  links.push(mk("bottleneck".into(),0,1,Rate::mbit_per_s(10),Span::us(2500),Limit::Packets(lim),Some(p)));
  links.push(mk("bottleneck:reverse".into(),1,0,Rate::mbit_per_s(10),Span::us(2500),Limit::Packets(5000),None));
  let (mut f,mut t)=(vec![],vec![]);
  for (i,d) in [10013u64,50171,100057,150123,200219].iter().enumerate(){
    let s=nodes.len(); nodes.push(format!("s{i}")); let r=nodes.len(); nodes.push(format!("r{i}"));
    f.push(s); t.push(r);
    for (x,y,d) in [(s,0,Span::us(2500)),(0,s,Span::us(2500)),(1,r,Span::us(*d)),(r,1,Span::us(*d))] {
      links.push(mk(format!("{x}{y}"),x,y,Rate::mbit_per_s(100),d,Limit::Packets(5000),None)); }
  }
  let tcp=Tcp{..Tcp::preset("ns2.35").unwrap()};
  let sc=scenario::Scenario{general:General{duration:Span::s(200),warmup:Span::s(20),..Default::default()},response:Default::default(),record:Default::default(),nodes,links,observed:0,
   traffic:vec![Traffic{name:"long".into(),from:f,to:t,count:n,packet_size:Bytes(500),start:Start::Uniform(Span::ZERO,Span::s(1)),stop:None,kind:Kind::Ftp(tcp)}]};
  let m = if series { let mut s=netsim::Simulation::new(sc.clone(),seed,netsim::Series::new(&sc)); s.advance(Time::MAX); s.results() } else { let mut s=netsim::Simulation::new(sc,seed,()); s.advance(Time::MAX); s.results()};
  let k=&m.metrics;
  println!("{aqm} N{n} q {:.2} sd {:.2} mad {:.2} loss {:.4} util {:.4} good*500/460 {:.4} to {} rx {} | qd {:.2}ms jain {:.3} resp {:?} | {} pk {} ev {:.3} s {:.0} ns/pk ev/pk {:.2}", k.link.queue_mean.unwrap(),k.link.queue_std.unwrap(),k.link.queue_mad.unwrap(),k.link.traffic.loss_ratio.unwrap(),k.link.utilisation,k.flows.goodput/1e6*500./460.,k.flows.timeouts,k.flows.retransmits,k.link.traffic.queue_delay_mean.unwrap()*1e3,k.flows.jain.unwrap(),k.response_time,m.engine.packets,m.engine.events,m.engine.cpu_seconds,m.engine.cpu_seconds*1e9/m.engine.packets as f64, m.engine.events as f64/m.engine.packets as f64);
}
